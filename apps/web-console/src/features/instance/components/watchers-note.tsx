import type { VmView } from '@headgate/api-contracts';
import { Icon } from '../../../shared/ui/icon.js';
import { useWatchers } from '../api/use-watchers.js';
import { watchersText } from '../watchers-text.js';

interface WatchersNoteProps {
  vm: VmView;
  /** The consoles of this page. */
  own?: number;
}

/** Who else has a console of the VM open. Without anyone, it takes no space. */
export function WatchersNote({ vm, own = 1 }: WatchersNoteProps) {
  const { data } = useWatchers(vm, vm.running);
  const text = data && watchersText(data.watchers, own);
  if (text === undefined) return null;
  return (
    <p className="hg-watchers" role="status">
      <Icon name="eye" /> {text}
    </p>
  );
}
