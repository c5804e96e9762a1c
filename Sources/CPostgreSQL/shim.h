#pragma once
// libpq has no function with C varargs that is used here, so there is no shim.
#include <libpq-fe.h>
