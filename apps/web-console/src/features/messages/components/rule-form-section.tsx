import { t } from '@lingui/core/macro';
import type { MessageChannelView, MessageRuleView } from '@headgate/api-contracts';
import { useState } from 'react';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { PlannedChangePanel, type ConfirmedRequest } from '../../../shared/plans/planned-change-panel.js';
import { useFolderPaths } from '../../../shared/queries/use-folder-paths.js';
import { Button } from '../../../shared/ui/button.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { changingRule, creatingRule } from '../api/message-requests.js';
import { messageKinds, severities } from '../message-wording.js';
import { emptyRule, formOf, orderOf, problemOf, updateOf, type RuleForm } from '../rule-form.js';
import { DeliveryFields } from './delivery-fields.js';

interface RuleFormSectionProps {
  /** The rule that is changed; undefined for a new one. */
  rule: MessageRuleView | undefined;
  channels: readonly MessageChannelView[];
  onSaved: () => void;
  onCancel: () => void;
}

/** Creates a rule, or changes one. It keeps its values until the change is carried out. */
export function RuleFormSection({ rule, channels, onSaved, onCancel }: RuleFormSectionProps) {
  const [form, setForm] = useState<RuleForm>(() => (rule ? formOf(rule) : emptyRule()));
  const [request, setRequest] = useState<ConfirmedRequest>();
  const { data: folders = [] } = useFolderPaths(true);
  const change = (part: Partial<RuleForm>): void => setForm((before) => ({ ...before, ...part }));
  const reason = problemOf(form);
  const known = rule?.name;
  const title = known === undefined ? t`New rule` : t`Change ${known}`;

  const propose = (): void => {
    const name = form.name.trim();
    setRequest(
      rule
        ? {
            title: t`Change ${name}?`,
            label: t`Save changes`,
            done: t`${name} was changed`,
            ...changingRule(rule.id, updateOf(form)),
          }
        : { title: t`Create ${name}?`, label: t`Create`, done: t`${name} was created`, ...creatingRule(orderOf(form)) },
    );
  };

  return (
    <>
      <form
        aria-label={title}
        className="hg-form hg-form--narrow"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) propose();
        }}
      >
        <h3>{title}</h3>
        <TextField id="rule-name" label={t`Name`} required value={form.name} onChange={(name) => change({ name })} />
        <Field label={t`Channel`} id="rule-channel" required>
          <SelectInput id="rule-channel" value={form.channel} required onChange={(channel) => change({ channel })}>
            <option value="">{t`Choose a channel`}</option>
            {channels.map(({ id, name }) => (
              <option key={id} value={id} translate="no">
                {name}
              </option>
            ))}
          </SelectInput>
        </Field>
        <fieldset className="hg-toolbar">
          <legend>{t`Events`}</legend>
          {Object.entries(messageKinds()).map(([kind, label]) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={(form.kinds as readonly string[]).includes(kind)}
                onChange={({ target }) =>
                  change({
                    kinds: target.checked
                      ? [...form.kinds, kind as RuleForm['kinds'][number]]
                      : form.kinds.filter((one) => one !== kind),
                  })
                }
              />{' '}
              {label}
            </label>
          ))}
        </fieldset>
        <Field label={t`Least severity`} id="rule-severity">
          <SelectInput
            id="rule-severity"
            value={form.minSeverity}
            onChange={(severity) => change({ minSeverity: severity as RuleForm['minSeverity'] })}
          >
            {Object.entries(severities()).map(([severity, label]) => (
              <option key={severity} value={severity}>
                {label}
              </option>
            ))}
          </SelectInput>
        </Field>
        <TextField
          id="rule-query"
          label={t`Query`}
          hint={t`As in the list. Empty for all instances.`}
          value={form.q}
          onChange={(q) => change({ q })}
        />
        <TextField
          id="rule-folder"
          label={t`Folder`}
          hint={t`Only instances in this folder and in the folders in it`}
          suggestions={folders}
          value={form.folder}
          onChange={(folder) => change({ folder })}
        />
        <DeliveryFields form={form} onChange={change} />
        <label>
          <input
            type="checkbox"
            checked={form.enabled}
            onChange={({ target }) => change({ enabled: target.checked })}
          />{' '}
          {t`Enabled`}
        </label>
        <div className="hg-toolbar">
          <ReasonedButton type="submit" reason={reason}>
            {t`Show the plan`}
          </ReasonedButton>
          {rule && (
            <Button variant="secondary" onClick={onCancel}>
              {t`Cancel`}
            </Button>
          )}
        </div>
      </form>
      {request && (
        <PlannedChangePanel
          change={request}
          failure={t`Couldn't save the rule`}
          onClose={() => setRequest(undefined)}
          onChanged={() => {
            setForm(emptyRule());
            onSaved();
          }}
        />
      )}
    </>
  );
}
