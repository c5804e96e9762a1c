#pragma once
#include <curl/curl.h>

// curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo take C varargs, which Swift cannot call.
// Each shim below fixes the type of the one argument, so that a wrong type does not compile. No logic.

// Options that take a long (switches, milliseconds, bit masks).
static inline CURLcode understudy_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

// Options that take a 64-bit size.
static inline CURLcode understudy_easy_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

// Options that take a string (libcurl copies it) or bytes (CURLOPT_COPYPOSTFIELDS copies as many as
// CURLOPT_POSTFIELDSIZE_LARGE said before).
static inline CURLcode understudy_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_HTTPHEADER: libcurl borrows the list until the handle is cleaned up.
static inline CURLcode understudy_easy_set_fields(CURL *easy, struct curl_slist *fields) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
}

// CURLOPT_ERRORBUFFER: libcurl borrows CURL_ERROR_SIZE bytes until the handle is cleaned up.
static inline CURLcode understudy_easy_set_error_buffer(CURL *easy, char *buffer) {
    return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer);
}

// CURLOPT_PRIVATE: a pointer that libcurl only keeps.
static inline CURLcode understudy_easy_set_owner(CURL *easy, void *owner) {
    return curl_easy_setopt(easy, CURLOPT_PRIVATE, owner);
}

// CURLINFO_PRIVATE: the pointer given above.
static inline CURLcode understudy_easy_get_owner(CURL *easy, void **owner) {
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, owner);
}

// CURLINFO_ACTIVESOCKET: the socket of a transfer that has ended; -1 if its connection is closed.
static inline CURLcode understudy_easy_get_socket(CURL *easy, curl_socket_t *socket) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, socket);
}

// CURLINFO_HTTP_VERSION: the version of the response, one of CURL_HTTP_VERSION_*.
static inline CURLcode understudy_easy_get_http_version(CURL *easy, long *version) {
    return curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, version);
}

// The response head, a line at a time, and the response body, a piece at a time.
typedef size_t (*understudy_bytes_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode understudy_easy_on_head(
    CURL *easy, understudy_bytes_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
}

static inline CURLcode understudy_easy_on_body(
    CURL *easy, understudy_bytes_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}

// The request body, a piece at a time.
static inline CURLcode understudy_easy_on_upload(
    CURL *easy, understudy_bytes_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, callback);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_READDATA, context);
}

// Called when a connection is ready, directly before the request is written to it.
static inline CURLcode understudy_easy_before_request(
    CURL *easy, curl_prereq_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}

// Options of a multi handle that take a long.
static inline CURLMcode understudy_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// CURLMsg holds its result in a union.
static inline CURLcode understudy_message_result(const CURLMsg *message) {
    return message->data.result;
}
