/* SPDX-License-Identifier: BSD-3-Clause */
/* The sub-commands of `tutti`.  Each gets the arguments from its own name on
 * and returns the exit status. */
#ifndef TUTTI_TOOLS_COMMANDS_H
#define TUTTI_TOOLS_COMMANDS_H

int tutti_cmd_run(int argc, char **argv);
int tutti_cmd_info(int argc, char **argv);
int tutti_cmd_topo(int argc, char **argv);
int tutti_cmd_sim(int argc, char **argv);

#endif
