import { Alert, Button, Modal, ModalBody, ModalFooter, ModalHeader, Progress } from '@patternfly/react-core';
import { useMutation } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { POWER_WORDING, type PowerAction } from '../../../shared/power/power-actions.js';
import { runForAll, runPowerAction, type MemberResult } from '../../../shared/power/run-power-action.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';

interface BulkDialogProps {
  action: PowerAction;
  members: readonly VmView[];
  onClose: () => void;
}

/** One action on many instances: who takes part and who does not, how far it is, and by name what failed. */
export function BulkDialog({ action, members: given, onClose }: BulkDialogProps) {
  // What was decided on stays as it was, while the instances change their states under it.
  const [members] = useState(given);
  const refusal = useActionRefusal();
  const [split] = useState(() => {
    const verdicts = members.map((vm) => ({ vm, reason: refusal(action, vm) }));
    return {
      able: verdicts.filter(({ reason }) => reason === undefined),
      skipped: verdicts.filter(({ reason }) => reason !== undefined),
    };
  });
  const [finished, setFinished] = useState(0);
  const able = split.able.map(({ vm }) => vm);
  const { mutate, data, isPending } = useMutation({
    mutationFn: () => runForAll(able, (vm) => runPowerAction(vm, action), setFinished),
  });
  const { label } = POWER_WORDING[action];

  return (
    <Modal isOpen variant="small" onClose={onClose} aria-label={`${label} several instances`}>
      <ModalHeader title={`${label}: ${countOf(able.length)}`} />
      <ModalBody>
        {!data && !isPending && (
          <>
            {action === 'force-stop' && (
              <Alert isInline variant="warning" title="Pulls the plug: the guests have no chance to save anything." />
            )}
            <NameList title="Will be done for:" names={able.map(({ name, namespace }) => `${namespace}/${name}`)} />
            <NameList
              title="Left alone:"
              names={split.skipped.map(({ vm, reason }) => `${vm.namespace}/${vm.name}: ${reason}`)}
            />
          </>
        )}
        {isPending && (
          <Progress
            aria-label={label}
            value={(100 * finished) / Math.max(1, able.length)}
            title={`${finished} of ${able.length}`}
          />
        )}
        {data && <Results results={data} skipped={split.skipped.length} />}
      </ModalBody>
      <ModalFooter>
        {data ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button
              variant={action === 'force-stop' ? 'danger' : 'primary'}
              isDisabled={able.length === 0 || isPending}
              {...(isPending ? { isLoading: true } : {})}
              onClick={() => mutate()}
            >
              {label} {countOf(able.length)}
            </Button>
            <Button variant="link" onClick={onClose}>
              {isPending ? 'Go on in the background' : 'Cancel'}
            </Button>
          </>
        )}
      </ModalFooter>
    </Modal>
  );
}

const countOf = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'instance' : 'instances'}`;

/** A thousand names help nobody; the first ones show whether the right ones were marked. */
const NAMED = 100;

function NameList({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <section className="hg-names" aria-label={title}>
      <h3>
        {title} {countOf(names.length)}
      </h3>
      <ul>
        {names.slice(0, NAMED).map((name) => (
          <li key={name}>{name}</li>
        ))}
        {names.length > NAMED && <li>and {(names.length - NAMED).toLocaleString('en')} more</li>}
      </ul>
    </section>
  );
}

function Results({ results, skipped }: { results: readonly MemberResult[]; skipped: number }) {
  const failed = results.filter(({ error }) => error !== undefined);
  return (
    <div role="status">
      <p>
        {countOf(results.length - failed.length)} done, {failed.length} failed, {skipped} left alone.
      </p>
      <NameList title="Failed:" names={failed.map(({ vm, error }) => `${vm.namespace}/${vm.name}: ${error}`)} />
    </div>
  );
}
