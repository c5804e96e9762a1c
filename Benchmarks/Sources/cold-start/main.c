// Starts a server and prints how long it took until it was ready, in milliseconds, then stops it.
//
//   cold-start PORT PROGRAM ARGUMENT…
//
// Ready is: GET /-/readyz on 127.0.0.1:PORT answers 200. It is asked again every half millisecond.

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int is_ready(int port) {
  int ready = 0;
  char request[128], answer[64];
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (s < 0) return 0;
  if (connect(s, (struct sockaddr *)&address, sizeof address) == 0) {
    int length = snprintf(request, sizeof request,
                          "GET /-/readyz HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                          "Connection: close\r\n\r\n", port);
    if (write(s, request, (size_t)length) == length) {
      ssize_t count = read(s, answer, sizeof answer);
      ready = count > 12 && memcmp(answer + 9, "200", 3) == 0;
    }
  }
  close(s);
  return ready;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int port = atoi(argv[1]), status;
  double began = now_ms();
  pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stdout)) _exit(126);
    execv(argv[2], argv + 2);
    _exit(127);
  }
  while (!is_ready(port)) {
    if (waitpid(child, &status, WNOHANG) == child) {
      fprintf(stderr, "cold-start: the server ended before it was ready\n");
      return 1;
    }
    if (now_ms() - began > 120e3) {
      kill(child, SIGKILL);
      fprintf(stderr, "cold-start: not ready after 120 s\n");
      return 1;
    }
    usleep(500);
  }
  printf("{\"milliseconds\": %.3f}\n", now_ms() - began);
  kill(child, SIGTERM);
  waitpid(child, &status, 0);
  return 0;
}
