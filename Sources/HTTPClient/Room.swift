// Room laid; its first file comes with its first behaviour.
