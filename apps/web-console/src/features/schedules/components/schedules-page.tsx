import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { usePlannedChange } from '../../../shared/plans/use-planned-change.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { Table } from '../../../shared/ui/table.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import {
  deleteSchedule,
  previewDeletion,
  previewRun,
  runSchedule,
  SCHEDULES_KEY,
  updateSchedule,
  useSchedules,
} from '../api/schedule-requests.js';
import { ScheduleFormSection } from './schedule-form-section.js';
import { ScheduleRow } from './schedule-row.js';

/** The schedules of the user, with a form to create and change them. */
export function SchedulesPage() {
  usePageTitle(t`Schedules`);
  const query = useSchedules();
  const { data: whoami } = useWhoami();
  const [edited, setEdited] = useState<string>();
  const [failure, setFailure] = useState<Error>();
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: SCHEDULES_KEY, exact: true });
  const { ask, panel } = usePlannedChange(t`Couldn't change the schedule`, reload);

  const toggle = async (id: string, enabled: boolean): Promise<void> => {
    setFailure(undefined);
    try {
      await updateSchedule(id, { enabled });
    } catch (problem) {
      setFailure(problem as Error);
    }
    reload();
  };

  return (
    <div className="hg-page">
      <h1 className="hg-page-title" {...PAGE_FOCUS}>
        {t`Schedules`}
      </h1>
      <p className="hg-note hg-gap-below">
        {t`Actions at planned times. Each run has the rights that the owner of the schedule has at that time.`}
      </p>
      {failure && <ErrorAlert title={t`Couldn't change the schedule`} error={failure} />}
      <ListStates
        query={query}
        failure={t`Couldn't load the schedules`}
        loading={t`Loading the schedules`}
        empty={t`No schedules yet`}
      >
        {(schedules) => (
          <Table
            label={t`Schedules`}
            columns={[t`Name`, t`Action`, t`Times`, t`Next run`, t`Last run`, t`Owner`, t`Actions`]}
            className="hg-gap-below"
          >
            {schedules.map((schedule) => {
              const { id, name } = schedule;
              return (
                <ScheduleRow
                  key={id}
                  schedule={schedule}
                  onToggle={(enabled) => void toggle(id, enabled)}
                  onEdit={() => setEdited(id)}
                  onRun={() =>
                    ask({
                      title: t`Run ${name} now?`,
                      label: t`Run now`,
                      done: t`${name} runs`,
                      preview: (signal) => previewRun(id, signal),
                      run: () => runSchedule(id),
                    })
                  }
                  onDelete={() =>
                    ask({
                      title: t`Delete ${name}?`,
                      label: t`Delete`,
                      done: t`${name} was deleted`,
                      isDanger: true,
                      preview: (signal) => previewDeletion(id, signal),
                      run: () => deleteSchedule(id),
                    })
                  }
                />
              );
            })}
          </Table>
        )}
      </ListStates>
      <ScheduleFormSection
        key={edited}
        schedule={query.data?.find(({ id }) => id === edited)}
        refusal={readOnlyReason(whoami)}
        onSaved={() => {
          setEdited(undefined);
          reload();
        }}
        onCancel={() => setEdited(undefined)}
      />
      {panel}
    </div>
  );
}
