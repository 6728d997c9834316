/*
 * The service's configuration file: JSON, one flat table of keys. Unknown keys are errors, since a
 * misspelt one would be a silent default.
 */
#ifndef TRACERD_DAEMON_CONFIG_H
#define TRACERD_DAEMON_CONFIG_H

#include "options.h"

#define CONFIG_DEFAULT_PATH "/etc/tracerd.json"

struct config;

/*
 * Completes `options` from the file; texts in it live as long as *out. Without options->config_path
 * the default file is read if it is there. 0, or EXIT_USAGE after one sentence on stderr.
 */
int config_load(struct config **out, struct options *options);
void config_destroy(struct config *config);

#endif
