import { t } from '@lingui/core/macro';
import type { FindingView } from '@headgate/api-contracts';
import { Data } from '../../../shared/ui/data.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { fixCheck, previewFix } from '../api/fix-checks.js';

interface FixPanelProps {
  /** As it was when the user asked for the fix. */
  finding: FindingView;
  /** As it is now; undefined if the check is gone. */
  current: FindingView | undefined;
  onClose: () => void;
  onDone: () => void;
}

const stateOf = (finding: FindingView | undefined): string =>
  finding ? [finding.status, finding.message].join(' ') : 'gone';

/** The plan of the fix of one finding, and its result. */
export const FixPanel = ({ finding, current, onClose, onDone }: FixPanelProps) => (
  <PlanPanel
    title={t`Fix: ${finding.title}`}
    label={t`Fix it`}
    failure={t`The fix failed`}
    place={<Data>{finding.context}</Data>}
    subject={{ name: finding.title, state: stateOf(current) }}
    preview={(signal) => previewFix(finding, signal)}
    run={() => fixCheck(finding)}
    onClose={onClose}
    onDone={onDone}
    outcome={({ fixed }) => ({ title: fixed.length > 0 ? t`${finding.title}: fixed` : t`It was already fixed` })}
  />
);
