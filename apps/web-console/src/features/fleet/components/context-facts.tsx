import { t } from '@lingui/core/macro';
import type { ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Icon } from '../../../shared/ui/icon.js';

/** Contexts, and whether they respond. */
export const ContextFacts = ({ contexts }: { contexts: readonly ContextCapabilities[] }) => (
  <ul className="hg-first-facts">
    {contexts.map(({ context, label, up }) => (
      <li key={context}>
        <Icon name={up ? 'check' : 'triangle'} className={up ? 'hg-status--success' : 'hg-status--warning'} />
        {up ? t`${context} (${label}) responds` : t`${context} (${label}) does not respond`}
      </li>
    ))}
  </ul>
);
