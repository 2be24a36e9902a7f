import { plural, t } from '@lingui/core/macro';
import type { Instance } from '../../../shared/instances/instance.js';
import { Button } from '../../../shared/ui/button.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { commandKey } from '../../../shared/ui/use-shortcut.js';
import type { TypedChanges } from '../hardware-changes.js';
import { discardDrafts, endDrafts } from '../hardware-drafts.js';

interface HardwareFooterProps {
  vm: Instance;
  typed: TypedChanges;
  refusal: string | undefined;
  onReview: () => void;
}

/** `1 change`, `3 changes` */
export const countOf = (count: number): string => plural(count, { one: '# change', other: '# changes' });

/** The typed changes, which stay visible below the table. */
export function HardwareFooter({ vm, typed: { changes, problems, lost }, refusal, onReview }: HardwareFooterProps) {
  const count = changes.length + problems.size;
  if (count === 0 && lost.length === 0) return null;
  const reason =
    refusal ??
    (problems.size > 0 ? t`Correct the marked rows first.` : count === 0 ? t`There is nothing to change.` : undefined);
  return (
    <div className="hg-hardware-foot hg-toolbar" role="region" aria-label={t`Changes that are not applied yet`}>
      <span role="status">
        {plural(count, { one: '# change not applied yet', other: '# changes not applied yet' })}
      </span>
      {lost.length > 0 && (
        <>
          <span className="hg-status--warning">
            {t`${vm.name} no longer has the device of ${plural(lost.length, { one: 'one change', other: '# changes' })}`}
          </span>
          <Button variant="link" onClick={() => endDrafts(vm, lost)}>
            {t`Drop`}
          </Button>
        </>
      )}
      <span className="hg-spring" />
      <Button variant="link" onClick={() => discardDrafts(vm)}>
        {t`Discard changes`}
      </Button>
      <ReasonedButton reason={reason} title={t`${commandKey()}+Enter`} onClick={onReview}>
        {t`Review ${plural(count, { one: '# change', other: '# changes' })}…`}
      </ReasonedButton>
    </div>
  );
}
