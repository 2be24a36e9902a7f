import {
  Button,
  ExpandableSection,
  Form,
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
  Switch,
  TextArea,
} from '@patternfly/react-core';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { describedBy, Field } from '../../../shared/ui/field.js';
import { PlanView } from '../../../shared/ui/plan-view.js';
import type { Created } from '../api/create-vm.js';
import type { CreateForm } from '../create-form.js';
import { useCreateForm } from '../use-create-form.js';
import { CloudInitEditor } from './cloud-init-editor.js';
import { IdentityFields } from './identity-fields.js';
import { PlacementFields } from './placement-fields.js';
import { SizeFields } from './size-fields.js';
import { SourceFields } from './source-fields.js';
import { SourcePicker } from './source-picker.js';

interface CreateDialogProps {
  onClose: () => void;
  onCreated: (created: Created, form: CreateForm) => void;
}

/** Makes an instance: one page, sensible from the start, nothing asked twice. */
export function CreateDialog({ onClose, onCreated }: CreateDialogProps) {
  const { form, change, context, contexts, problems, error, plan, busy, creating, submit, rehearse } =
    useCreateForm(onCreated);
  const fields = { form, onChange: change, problems };

  return (
    <Modal isOpen variant="medium" onClose={onClose} aria-labelledby="create-title" elementToFocus="#name">
      <ModalHeader title="Create VM" labelId="create-title" />
      <ModalBody>
        <Form
          id="create-form"
          className="hg-form"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <IdentityFields {...fields} contexts={contexts} />
          <SourcePicker context={context} chosen={form.source} onChange={(source) => change({ source })} />
          <SourceFields {...fields} />
          <SizeFields {...fields} />
          {form.source === 'bootc' && (
            <Field label="SSH key" id="sshKey" problem={problems.sshKey} hint="Optional; baked into the disk">
              <TextArea
                id="sshKey"
                rows={2}
                value={form.sshKey}
                aria-describedby={describedBy('sshKey')}
                onChange={(_event, sshKey) => change({ sshKey })}
              />
            </Field>
          )}
          <ExpandableSection toggleText="First boot: host name, password, SSH keys" displaySize="default" isIndented>
            <CloudInitEditor
              value={form.cloudInit}
              onChange={(cloudInit) => change({ cloudInit })}
              problem={problems.cloudInit}
            />
          </ExpandableSection>
          {context?.backend === 'kubevirt' && (
            <ExpandableSection toggleText="Instance type, preference, node" displaySize="default" isIndented>
              <PlacementFields {...fields} context={context} />
            </ExpandableSection>
          )}
          {error && <ErrorAlert title="This was refused" error={error} />}
          {plan && <PlanView plan={plan} title="What would be done" />}
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button type="submit" form="create-form" {...(creating ? { isLoading: true } : {})} isDisabled={busy}>
          Create
        </Button>
        <Button variant="secondary" onClick={rehearse} isDisabled={busy}>
          Preview
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
        <span className="hg-spring" />
        <Switch
          id="start"
          label="Start it once its disk is there"
          isChecked={form.start}
          onChange={(_event, start) => change({ start })}
        />
      </ModalFooter>
    </Modal>
  );
}
