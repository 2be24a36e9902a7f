import type { Command } from 'commander';
import type { Act } from './command-context.js';
import { addBackupCommands } from './backup-commands.js';
import { addCompletionCommands } from './completion-commands.js';
import { addConsoleCommands } from './console-commands.js';
import { addContextCommands } from './context-commands.js';
import { addCreateCommands } from './create-commands.js';
import { addDeclarationCommands } from './declaration-commands.js';
import { addEventCommands } from './event-commands.js';
import { addFileCommands } from './file-commands.js';
import { addHelpCommand } from './help-command.js';
import { addInventoryCommand } from './inventory-command.js';
import { addJournalCommands } from './journal-commands.js';
import { addLogCommands } from './log-commands.js';
import { addLoginCommands } from './login-commands.js';
import { addMcpCommand } from './mcp-command.js';
import { addMoveCommand } from './move-command.js';
import { addPortCommands } from './port-commands.js';
import { addPowerCommands } from './power-commands.js';
import { addProofCommands } from './proof-commands.js';
import { addReadCommands } from './read-commands.js';
import { addServiceCommands } from './service-commands.js';
import { addSnapshotCommands } from './snapshot-commands.js';
import { addSshCommand } from './ssh-command.js';
import { addTaskCommands } from './task-commands.js';

/** All commands, in the order of the help. */
export function addCommands(program: Command, act: Act): void {
  for (const add of [
    addReadCommands,
    addCreateCommands,
    addPowerCommands,
    addSnapshotCommands,
    addMoveCommand,
    addDeclarationCommands,
    addTaskCommands,
    addEventCommands,
    addLogCommands,
    addJournalCommands,
    addConsoleCommands,
    addPortCommands,
    addSshCommand,
    addInventoryCommand,
    addBackupCommands,
    addProofCommands,
    addFileCommands,
    addServiceCommands,
    addMcpCommand,
    addLoginCommands,
    addContextCommands,
    addCompletionCommands,
    addHelpCommand,
  ])
    add(program, act);
}
