#pragma once
#include <zlib.h>

// deflateInit2 is a macro, which Swift cannot call. These two shims make one gzip member of bytes that are
// all in memory.

enum { understudy_gzip_window_bits = 15 + 16, understudy_gzip_memory_level = 9 };

static inline int understudy_gzip_begin(z_stream *stream) {
    return deflateInit2(
        stream, Z_BEST_COMPRESSION, Z_DEFLATED, understudy_gzip_window_bits, understudy_gzip_memory_level,
        Z_DEFAULT_STRATEGY);
}

// Writes the whole member into `into`. Gives how many bytes it has; 0 where it does not fit into `most`
// bytes, or where zlib gets no memory.
static inline unsigned understudy_gzip(
    const unsigned char *bytes, unsigned count, unsigned char *into, unsigned most) {
    z_stream stream = {0};
    if (understudy_gzip_begin(&stream) != Z_OK) return 0;
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = count;
    stream.next_out = into;
    stream.avail_out = most;
    int code = deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return code == Z_STREAM_END ? most - stream.avail_out : 0;
}
