import { t } from '@lingui/core/macro';
import {
  createContext,
  use,
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import { Alert, type AlertVariant } from './alert.js';
import { Button } from './button.js';

export interface Notice {
  readonly variant: AlertVariant;
  readonly title: string;
  readonly body?: ReactNode | undefined;
  /** A command such as "Undo". It dismisses the notice. */
  readonly action?: { readonly label: string; readonly run: () => void };
}

const NotifyContext = createContext<(notice: Notice) => void>(() => undefined);

/** Successes disappear automatically, later when they can be undone. Failures stay until the user dismisses them. */
const SUCCESS_MS = 5_000;
const UNDO_MS = 10_000;
const MAX_NOTICES = 5;

const lifetimeMs = ({ variant, action }: Notice): number | undefined =>
  variant === 'danger' || variant === 'warning' ? undefined : action ? UNDO_MS : SUCCESS_MS;

export function NotificationProvider({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<readonly (Notice & { id: number })[]>([]);
  const dismiss = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), []);
  const notify = useMemo(() => {
    let last = 0;
    return (notice: Notice) => setNotices((all) => [...all.slice(1 - MAX_NOTICES), { ...notice, id: ++last }]);
  }, []);

  const region = useRef<HTMLDivElement>(null);
  const newest = notices.at(-1)?.id;
  // A popover that is shown again is above everything else, open dialogs included.
  useLayoutEffect(() => {
    const element = region.current;
    if (newest === undefined || !element) return undefined;
    element.showPopover();
    return () => element.hidePopover();
  }, [newest]);

  return (
    <NotifyContext value={notify}>
      {children}
      <div
        ref={region}
        popover="manual"
        role="region"
        aria-live="polite"
        aria-label={t`Notifications`}
        className="hg-toasts"
      >
        {notices.map(({ id, ...notice }) => (
          <Toast key={id} notice={notice} onDismiss={() => dismiss(id)} />
        ))}
      </div>
    </NotifyContext>
  );
}

function Toast({ notice, onDismiss }: { notice: Notice; onDismiss: () => void }) {
  const { variant, title, body, action } = notice;
  const [isHeld, setIsHeld] = useState(false);
  const lifetime = isHeld ? undefined : lifetimeMs(notice);
  const expire = useEffectEvent(onDismiss);
  useEffect(() => {
    if (lifetime === undefined) return undefined;
    const timer = setTimeout(() => expire(), lifetime);
    return () => clearTimeout(timer);
  }, [lifetime]);

  // A notice does not disappear while it is being read or used.
  const hold = (held: boolean) => (): void => setIsHeld(held);
  return (
    <div onPointerEnter={hold(true)} onPointerLeave={hold(false)} onFocus={hold(true)} onBlur={hold(false)}>
      <Alert
        variant={variant}
        title={title}
        onDismiss={onDismiss}
        actions={
          action && (
            <Button
              variant="link"
              onClick={() => {
                action.run();
                onDismiss();
              }}
            >
              {action.label}
            </Button>
          )
        }
      >
        {body}
      </Alert>
    </div>
  );
}

export const useNotify = (): ((notice: Notice) => void) => use(NotifyContext);
