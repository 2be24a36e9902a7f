import { Inject, Injectable } from '@nestjs/common';
import type { CheckView, FindingView } from '@headgate/api-contracts';
import { CheckBackends, FindingHistory, type ContextCheck } from '@headgate/doctor';
import { formatRef } from '@headgate/domain-contracts';
import { FleetHistory } from '@headgate/history';
import { PluginChecks, type CheckOfPlugin } from '@headgate/plugins';
import { ListenerCheck } from './listener-check.js';
import { checkSyslog, JournalSyslog } from '../journal/journal-syslog.js';
import { checkFleetHistory } from '../fleet/history-check.js';
import { Readiness } from '../platform/readiness.js';
import { checkRegistryDisk } from '../store/registry-check.js';

const MAX_AFFECTED = 100;

/** Runs the checks of each backend, of the service itself and of the installed plugins. */
@Injectable()
export class ReadChecks {
  constructor(
    private readonly checkBackends: CheckBackends,
    private readonly pluginChecks: PluginChecks,
    private readonly readiness: Readiness,
    private readonly history: FindingHistory,
    private readonly listener: ListenerCheck,
    private readonly syslog: JournalSyslog,
    @Inject(FleetHistory) private readonly fleetHistory: FleetHistory | undefined,
  ) {}

  async read(): Promise<CheckView[]> {
    return (await this.run()).map(presentCheck);
  }

  async readFindings(): Promise<FindingView[]> {
    return (await this.run()).map((check) => presentFinding(check, this.history.since(check)));
  }

  private async run(): Promise<ContextCheck[]> {
    const observe = this.history.begin();
    const [ofBackends, ofPlugins] = await Promise.all([this.checkBackends.run(), this.pluginChecks.run()]);
    const all = [
      ...ofBackends,
      checkRegistryDisk(this.readiness),
      checkFleetHistory(this.fleetHistory),
      this.listener.run(),
      ...checkSyslog(this.syslog.state),
      ...ofPlugins.map(withContext),
    ];
    observe(all);
    return all;
  }
}

/** The check of a plugin is about the machine of the service, which is no context. */
const withContext = ({ plugin, ...check }: CheckOfPlugin): ContextCheck => ({
  ...check,
  context: `plugin/${plugin}`,
  fixable: false,
});

const presentCheck = ({ name, status, message, context, fixable, remedy }: ContextCheck): CheckView => ({
  name,
  status,
  message,
  context,
  fixable,
  remedy,
});

function presentFinding(check: ContextCheck, since: string | undefined): FindingView {
  const { name, status, message, title = name, affected = [] } = check;
  return {
    ...presentCheck(check),
    title: status === 'ok' ? message : title,
    ...(since !== undefined && { since }),
    affected: affected.slice(0, MAX_AFFECTED).map(formatRef),
    affectedCount: affected.length,
  };
}
