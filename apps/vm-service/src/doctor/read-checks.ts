import { Injectable } from '@nestjs/common';
import type { CheckView } from '@headgate/api-contracts';
import { CheckBackends } from '@headgate/doctor';
import { PluginChecks, type CheckOfPlugin } from '@headgate/plugins';
import { Readiness } from '../platform/readiness.js';
import { checkRegistryDisk } from '../store/registry-check.js';

/** Runs the checks of each backend, of the disk of the registry and of the installed plugins. */
@Injectable()
export class ReadChecks {
  constructor(
    private readonly checkBackends: CheckBackends,
    private readonly pluginChecks: PluginChecks,
    private readonly readiness: Readiness,
  ) {}

  async read(): Promise<CheckView[]> {
    const [ofBackends, ofPlugins] = await Promise.all([this.checkBackends.run(), this.pluginChecks.run()]);
    return [...ofBackends, checkRegistryDisk(this.readiness), ...ofPlugins.map(presentCheck)];
  }
}

/** The check of a plugin is about the machine of the service, which is no context. */
const presentCheck = ({ plugin, ...check }: CheckOfPlugin): CheckView => ({
  ...check,
  context: `plugin/${plugin}`,
  fixable: false,
});
