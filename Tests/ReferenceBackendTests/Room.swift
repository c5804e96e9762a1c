// Tests of this room.
