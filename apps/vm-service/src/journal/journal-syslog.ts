import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import type { ContextCheck } from '@headgate/doctor';
import { Audit, Clock, FleetAuditLog, JournalPositions, type Log } from '@headgate/domain-contracts';
import { connectSyslog, JournalForwarder, type ForwarderState } from '@headgate/syslog';
import type { Settings } from '../config/load-config.js';
import { LOGGER, SETTINGS } from '../platform/tokens.js';

/** Sends the journal to the server of syslog that the configuration names, if there is one. */
@Injectable()
export class JournalSyslog {
  private readonly forwarder: JournalForwarder | undefined;

  constructor(
    @Inject(SETTINGS) { journal: settings }: Pick<Settings, 'journal'>,
    journal: FleetAuditLog,
    positions: JournalPositions,
    audit: Audit,
    clock: Clock,
    @Inject(LOGGER) log: Log,
  ) {
    const { syslog } = settings;
    if (!syslog) return;
    const { address, transport, ca, facility } = syslog;
    const colon = address.lastIndexOf(':');
    const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
    const port = Number(address.slice(colon + 1));
    const sender = { facility, hostname: syslog.hostname ?? hostname(), processId: process.pid };
    this.forwarder = new JournalForwarder(
      {
        journal,
        positions,
        audit,
        clock,
        log,
        connect: async (signal) => {
          // Each time, because authorities are replaced.
          const trusted = ca === undefined ? {} : { ca: await readFile(ca, 'utf8') };
          return connectSyslog({ host, port, transport, ...trusted }, signal);
        },
      },
      { sender, reader: `syslog ${transport} ${address}` },
    );
  }

  /** Undefined without a server in the configuration. */
  get state(): ForwarderState | undefined {
    return this.forwarder?.state;
  }

  start(): void {
    this.forwarder?.start();
  }

  async stop(): Promise<void> {
    await this.forwarder?.stop();
  }
}

/** The doctor's check of the server of syslog. */
export function checkSyslog(state: ForwarderState | undefined): ContextCheck[] {
  if (!state) return [];
  const { isConnected, error, lost } = state;
  const check = { name: 'syslog', context: 'service/journal', fixable: false } as const;
  const title = 'The journal is not sent to the server of syslog';
  if (!isConnected)
    return [
      {
        ...check,
        status: 'error',
        title,
        message: `The server of syslog can't be reached: ${error ?? 'the connection is being opened'}.`,
        remedy: 'Check the server and journal.syslog. Entries are sent later, at most the newest 10,000.',
      },
    ];
  if (lost > 0)
    return [
      {
        ...check,
        status: 'warning',
        title: 'Entries of the journal were not sent to the server of syslog',
        message: `${lost} entries were not sent since the start of the service.`,
        remedy: 'Export the journal with headgate journal export to get them.',
      },
    ];
  return [{ ...check, status: 'ok', message: 'The server of syslog gets the entries of the journal.', remedy: '' }];
}
