import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { MessageRuleView } from '@headgate/api-contracts';
import { useState } from 'react';
import { usePlannedChange } from '../../../shared/plans/use-planned-change.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { Table } from '../../../shared/ui/table.js';
import { deletingRule, MESSAGES_KEY, useChannels, useRules } from '../api/message-requests.js';
import { messageKinds, severities } from '../message-wording.js';
import { RuleFormSection } from './rule-form-section.js';

/** The rules of the user, with a form to create and change them. */
export function RuleList() {
  const query = useRules();
  const { data: channels = [] } = useChannels();
  const [edited, setEdited] = useState<string>();
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: MESSAGES_KEY });
  const { ask, panel } = usePlannedChange(t`Couldn't delete the rule`, reload);

  const remove = ({ id, name }: MessageRuleView): void =>
    ask({
      title: t`Delete ${name}?`,
      label: t`Delete`,
      done: t`${name} was deleted`,
      isDanger: true,
      ...deletingRule(id),
    });

  return (
    <section aria-label={t`Rules`} className="hg-section">
      <h2>{t`Rules`}</h2>
      <ListStates
        query={query}
        failure={t`Couldn't load the rules`}
        loading={t`Loading the rules`}
        empty={t`No rules yet`}
      >
        {(rules) => (
          <Table
            label={t`Rules`}
            columns={[t`Name`, t`Events`, t`Instances`, t`Sends`, t`Channel`, t`Owner`, t`Actions`]}
            className="hg-gap-below"
          >
            {rules.map((rule) => {
              const { id, name, kinds, minSeverity, owner, enabled, waitingEvents } = rule;
              const severity = severities()[minSeverity];
              return (
                <tr key={id}>
                  <td>
                    <Data>{name}</Data>
                  </td>
                  <td>
                    {kinds.map((kind) => messageKinds()[kind]).join(', ')}
                    <br />
                    <span className="hg-note">{t`From: ${severity}`}</span>
                  </td>
                  <td>
                    {rule.q || rule.folder ? <Data>{[rule.q, rule.folder].filter(Boolean).join(', ')}</Data> : t`All`}
                  </td>
                  <td>
                    {enabled ? timesOf(rule) : t`Disabled`}
                    {waitingEvents > 0 && (
                      <>
                        <br />
                        <span className="hg-note">{t`Events that wait: ${waitingEvents}`}</span>
                      </>
                    )}
                  </td>
                  <td>
                    <Data>{channels.find((one) => one.id === rule.channel)?.name ?? '–'}</Data>
                  </td>
                  <td>
                    <Data>{owner || '–'}</Data>
                  </td>
                  <td>
                    <Button variant="link" aria-label={t`Edit ${name}`} onClick={() => setEdited(id)}>
                      {t`Edit`}
                    </Button>
                    <Button variant="link" aria-label={t`Delete ${name}`} onClick={() => remove(rule)}>
                      {t`Delete`}
                    </Button>
                  </td>
                </tr>
              );
            })}
          </Table>
        )}
      </ListStates>
      <RuleFormSection
        key={edited}
        rule={query.data?.find(({ id }) => id === edited)}
        channels={channels}
        onSaved={() => {
          setEdited(undefined);
          reload();
        }}
        onCancel={() => setEdited(undefined)}
      />
      {panel}
    </section>
  );
}

function timesOf({ delivery, digestAt, timeZone, quietHours }: MessageRuleView): string {
  if (delivery === 'digest') return t`Once a day at ${digestAt}, ${timeZone}`;
  if (!quietHours) return t`Immediately`;
  const { from, to } = quietHours;
  return t`Immediately, except from ${from} to ${to}, ${timeZone}`;
}
