import { t } from '@lingui/core/macro';
import type { ScheduleView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { paths } from '../../../shared/location/paths.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { Switch } from '../../../shared/ui/inputs.js';
import { ServiceText } from '../../../shared/ui/service-text.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { runWording } from '../run-wording.js';
import { actionLabels, choiceOf } from '../schedule-form.js';

interface ScheduleRowProps {
  schedule: ScheduleView;
  onToggle: (isEnabled: boolean) => void;
  onEdit: () => void;
  onRun: () => void;
  onDelete: () => void;
}

/** A schedule with its next and its last run. */
export function ScheduleRow({ schedule, onToggle, onEdit, onRun, onDelete }: ScheduleRowProps) {
  const { id, name, enabled, cron, timeZone, job, nextRun, owner } = schedule;
  const { q, folder, context } = job.query;
  const where = [q, folder, context].filter(Boolean).join(', ');
  return (
    <tr>
      <td>
        <Data>{name}</Data>
      </td>
      <td>
        {actionLabels()[choiceOf(job)]}
        <br />
        <span className="hg-note">
          <Data>{where}</Data>
        </span>
      </td>
      <td>
        <Data>{cron}</Data>
        <br />
        <span className="hg-note">
          <Data>{timeZone}</Data>
        </span>
      </td>
      <td>
        <div className="hg-next-run">
          <Switch
            id={`schedule-${id}`}
            label={<span className="hg-hidden">{t`Run ${name} at its times`}</span>}
            isChecked={enabled}
            onChange={onToggle}
          />
          {nextRun === null ? <span className="hg-note">{t`Disabled`}</span> : <Timestamp at={nextRun} />}
        </div>
      </td>
      <td>
        <LastRun schedule={schedule} />
      </td>
      <td>
        <Data>{owner}</Data>
      </td>
      <td>
        <Button variant="link" aria-label={t`Edit ${name}`} onClick={onEdit}>
          {t`Edit`}
        </Button>
        <Button variant="link" aria-label={t`Run now: ${name}`} onClick={onRun}>
          {t`Run now`}
        </Button>
        <Button variant="link" aria-label={t`Delete ${name}`} onClick={onDelete}>
          {t`Delete`}
        </Button>
      </td>
    </tr>
  );
}

function LastRun({ schedule: { lastRun } }: { schedule: ScheduleView }) {
  if (!lastRun) return <>{t`Never`}</>;
  const { status, planned, task, reason } = lastRun;
  const label = <StatusLabel wording={runWording()[status]} />;
  return (
    <>
      {task === undefined ? label : <Link href={paths.task(task)}>{label}</Link>} <Timestamp at={planned} />
      {reason !== undefined && (
        <p className="hg-note">
          <ServiceText>{reason}</ServiceText>
        </p>
      )}
    </>
  );
}
