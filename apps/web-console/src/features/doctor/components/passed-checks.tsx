import { t } from '@lingui/core/macro';
import type { FindingView } from '@headgate/api-contracts';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

/** The checks that passed, folded. */
export function PassedChecks({ passed }: { passed: readonly FindingView[] }) {
  if (passed.length === 0) return null;
  return (
    <Disclosure label={passed.length === 1 ? t`1 check passed` : t`${passed.length} checks passed`}>
      <ul className="hg-passed" aria-label={t`Passed checks`}>
        {passed.map(({ context, name, title }) => (
          <li key={`${context}/${name}`}>
            <span className="hg-status hg-status--success">
              <Icon name="check" />
            </span>
            <span>
              <ServiceText>{title}</ServiceText>{' '}
              <span className="hg-note" translate="no">{`${context} · ${name}`}</span>
            </span>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
