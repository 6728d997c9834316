/*
 * Asks a traced process whose code lies at addresses that showed up in its kernel events and that
 * it told nothing about. As often as its marks come, and never more than one frame at a time.
 */
#ifndef TRACERD_DAEMON_CLR_RESOLVE_H
#define TRACERD_DAEMON_CLR_RESOLVE_H

struct clr_source;

void clr_resolve_wanted(struct clr_source *clr);

#endif
