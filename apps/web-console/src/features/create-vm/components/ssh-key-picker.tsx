import { t } from '@lingui/core/macro';
import { messageOf } from '../../../shared/api/api-error.js';
import { Button } from '../../../shared/ui/button.js';
import { useRememberSshKeys, useSshKeys } from '../api/use-ssh-keys.js';

interface SshKeyPickerProps {
  /** Public keys, one per line. */
  keys: string;
  onChange: (keys: string) => void;
}

const linesOf = (keys: string): string[] =>
  keys
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The keys that the service remembers for the user, to add them with one click, and to remember others. */
export function SshKeyPicker({ keys, onChange }: SshKeyPickerProps) {
  const { data: known = [] } = useSshKeys();
  const { mutate, error, isPending } = useRememberSshKeys();
  const lines = linesOf(keys);
  const isChosen = (key: string): boolean => lines.some((line) => line.startsWith(key));
  const fresh = lines.filter((line) => !known.some(({ key }) => line.startsWith(key)));
  return (
    <div className="hg-toolbar">
      {known
        .filter(({ key }) => !isChosen(key))
        .map(({ id, name, key, fingerprint }) => (
          <Button
            key={id}
            isSmall
            variant="secondary"
            title={fingerprint}
            onClick={() => onChange([...lines, `${key} ${name}`].join('\n'))}
          >
            {t`Add ${name}`}
          </Button>
        ))}
      {fresh.length > 0 && (
        <Button isSmall variant="link" isLoading={isPending} onClick={() => mutate(fresh)}>
          {t`Remember for the next VMs`}
        </Button>
      )}
      {error && (
        <p role="alert" className="hg-status--danger">
          {messageOf(error)}
        </p>
      )}
    </div>
  );
}
