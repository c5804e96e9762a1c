// Light, dark or as the system has it. Not a module, so that it runs before the first paint.
{
  const key = "understudy-theme";
  const names = ["system", "light", "dark"];
  const read = () => names.find((name) => name === localStorage.getItem(key)) ?? "system";
  const apply = (name) => {
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
  };
  globalThis.understudyTheme = {
    read,
    set(name) {
      localStorage.setItem(key, name);
      apply(name);
    },
    next: () => names[(names.indexOf(read()) + 1) % names.length],
  };
  apply(read());
}
