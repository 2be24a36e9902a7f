import { messageOf } from '@headgate/domain-contracts';
import type { PluginCheck } from '@headgate/plugin-sdk';
import { readArray, readObject, readText, readWord, type TextRule } from '../format/shape.js';
import type { InstalledPlugin, InstalledState, PluginFolder } from '../install/plugin-folder.js';
import type { PluginHost } from '../run/plugin-host.js';

/** A check with the plugin that it is from or about. */
export interface CheckOfPlugin extends PluginCheck {
  readonly plugin: string;
}

const CHECKS_TIMEOUT_MS = 10_000;
const MAX_CHECKS = 50;
const text = (maxLength: number, isRequired: boolean): TextRule => ({
  test: (value) => value.length <= maxLength && !/\p{Cc}/u.test(value) && (!isRequired || value.trim() !== ''),
  rule: `a line of at most ${maxLength} characters`,
});

/** The checks of the installed plugins, and a failed check for each plugin that can't be used. */
export class PluginChecks {
  constructor(
    private readonly plugins: PluginFolder,
    private readonly host: PluginHost,
  ) {}

  /** Never fails: the failure of a plugin is a check as well. */
  async run(): Promise<CheckOfPlugin[]> {
    const all = [...this.plugins.all()].map(([name, state]) => this.checksOf(name, state));
    return (await Promise.all(all)).flat();
  }

  private async checksOf(plugin: string, state: InstalledState): Promise<CheckOfPlugin[]> {
    if ('problem' in state) return [failed(plugin, `The plugin ${plugin} can't be used. ${state.problem}`)];
    if (state.manifest.ability !== 'doctor-checks') return [];
    try {
      return (await this.ask(state)).map((check) => ({ ...check, plugin }));
    } catch (error) {
      const message = messageOf(error);
      const isNamed = message.includes(`plugin ${plugin}`);
      return [failed(plugin, isNamed ? message : `The checks of the plugin ${plugin} can't be read: ${message}`)];
    }
  }

  /** @throws ShapeError, DomainError */
  private async ask(plugin: InstalledPlugin): Promise<PluginCheck[]> {
    const checks = await this.host.call(plugin, 'checks', {}, CHECKS_TIMEOUT_MS);
    return readArray({ checks }, 'checks', 'result', MAX_CHECKS).map((value, position) => {
      const where = `checks[${position}]`;
      const fields = readObject(value, where, ['name', 'status', 'message', 'remedy']);
      return {
        name: readText(fields, 'name', where, text(60, true)),
        status: readWord(fields, 'status', where, ['ok', 'warning', 'error']),
        message: readText(fields, 'message', where, text(500, true)),
        remedy: readText(fields, 'remedy', where, text(500, false)),
      };
    });
  }
}

const failed = (plugin: string, message: string): CheckOfPlugin => ({
  plugin,
  name: `plugin ${plugin}`,
  status: 'error',
  message,
  remedy: 'Install the plugin again, or remove it.',
});
