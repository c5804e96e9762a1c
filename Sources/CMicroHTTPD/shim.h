#pragma once
#include <microhttpd.h>

/* Swift's Glibc module leaves these two out. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* Declared by the C library only under _GNU_SOURCE, which Swift's importer does not set. */
extern int accept4(int listener, struct sockaddr *address, socklen_t *size, int flags);

/* MHD_start_daemon takes its options as C varargs, which Swift cannot call. It gets no listening
 * socket: the server accepts by itself and hands connections over with MHD_add_connection. */
static inline struct MHD_Daemon *understudy_start_daemon(
    unsigned int threads, unsigned int connections, unsigned int connections_per_address,
    size_t head_bytes, unsigned int idle_seconds,
    MHD_AccessHandlerCallback access, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection, void *(*target)(void *, const char *,
    struct MHD_Connection *), const char *certificate, const char *key, void *context) {
  /* TLS 1.2 and 1.3, with the certificate's chain and its key as PEM. */
  const struct MHD_OptionItem secure[] = {
      {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
      {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
      {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
      {MHD_OPTION_END, 0, NULL}};
  const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC
          | MHD_USE_NO_LISTEN_SOCKET | (certificate == NULL ? 0 : MHD_USE_TLS),
      0, NULL, NULL, access, context,
      MHD_OPTION_THREAD_POOL_SIZE, threads,
      MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, connections_per_address,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, head_bytes,
      MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
      MHD_OPTION_URI_LOG_CALLBACK, target, context,
      MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_NOTIFY_CONNECTION, connection, context,
      MHD_OPTION_ARRAY, certificate == NULL ? plain : secure,
      MHD_OPTION_END);
}

/* MHD_get_connection_info is variadic; this is the pointer that the connection callback stored. */
static inline void *understudy_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

/* MHD_get_connection_info is variadic; this is the connection's socket, or -1. */
static inline int understudy_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

/* MHD_get_connection_info is variadic; this is the size of the request's head, from its method to the end of
 * its empty line, or 0 before that was read. */
static inline size_t understudy_head_bytes(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}

/* The two ends of a stream are macros with casts, which Swift does not import. */
static const ssize_t understudy_stream_end = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t understudy_stream_failed = MHD_CONTENT_READER_END_WITH_ERROR;

/* MHD_SIZE_UNKNOWN is a macro over another macro, which Swift does not import. */
static const uint64_t understudy_size_unknown = MHD_SIZE_UNKNOWN;

/* MHD_set_response_options is variadic. The response is then never chunked; without a length the
 * connection closes after it. */
static inline enum MHD_Result understudy_set_unchunked(struct MHD_Response *response) {
  return MHD_set_response_options(
      response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}
