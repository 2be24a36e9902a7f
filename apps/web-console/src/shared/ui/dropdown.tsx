import {
  createContext,
  Fragment,
  use,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { Link } from 'wouter';
import type { IconName } from '../../icons.js';
import { Icon } from './icon.js';

interface DropdownProps {
  /** The text of the button. */
  label: ReactNode;
  icon?: ReactNode;
  isSmall?: boolean;
  isDisabled?: boolean;
  /** Without a border, for toolbars. */
  isPlain?: boolean;
  className?: string;
  popup: 'menu' | 'dialog';
  /** The name of the opened panel. */
  panelLabel: string;
  children: ReactNode;
}

/** Closes the panel and returns the focus to its button. */
export const CloseContext = createContext<() => void>(() => undefined);

/**
 * A button that opens a panel below it. The panel closes on Escape, which returns the focus to the button, and as soon
 * as the pointer or the focus goes elsewhere.
 */
export function Dropdown(props: DropdownProps) {
  const {
    label,
    icon,
    isSmall = false,
    isDisabled = false,
    isPlain = false,
    className = '',
    popup,
    panelLabel,
  } = props;
  const [isOpen, setIsOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const close = (): void => setIsOpen(false);
  const closeAndFocus = (): void => {
    close();
    button.current?.focus();
  };

  const onOutside = useEffectEvent((event: Event) => {
    if (!root.current?.contains(event.target as Node)) close();
  });
  useEffect(() => {
    if (!isOpen) return undefined;
    const listener = (event: Event): void => onOutside(event);
    document.addEventListener('pointerdown', listener);
    document.addEventListener('focusin', listener);
    return () => {
      document.removeEventListener('pointerdown', listener);
      document.removeEventListener('focusin', listener);
    };
  }, [isOpen]);

  // The panel stays inside the window: it grows to the left when there is no room on the right.
  useLayoutEffect(() => {
    const element = panel.current;
    if (!isOpen || !element) return;
    const { right } = element.getBoundingClientRect();
    if (right > window.innerWidth) element.dataset['align'] = 'end';
    // A button in the middle of a narrow window has too little room on both sides.
    const { left } = element.getBoundingClientRect();
    if (left < 0) element.style.insetInlineEnd = `${left}px`;
    itemsOf(element)[0]?.focus();
  }, [isOpen]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen || !panel.current) return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      event.preventDefault();
      return closeAndFocus();
    }
    moveFocus(panel.current, event);
  };

  return (
    <span ref={root} className={`hg-dropdown ${className}`} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        className={`hg-button hg-button--${isPlain ? 'plain' : 'secondary'}${isSmall ? ' hg-button--small' : ''}`}
        disabled={isDisabled}
        aria-haspopup={popup}
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {icon}
        {label}
        <Icon name="expandDown" className="hg-caret" />
      </button>
      {isOpen && (
        <div ref={panel} role={popup} aria-label={panelLabel} className="hg-panel">
          <CloseContext value={closeAndFocus}>{props.children}</CloseContext>
        </div>
      )}
    </span>
  );
}

/** Moves the focus between the items of a panel with the arrow keys, Home and End. */
export function moveFocus(panel: HTMLElement, event: KeyboardEvent): void {
  const items = itemsOf(panel);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (next === undefined || isTextInput(event.target)) return;
  event.preventDefault();
  items[(next + items.length) % items.length]?.focus();
}

/** What the arrow keys move between. */
export const itemsOf = (panel: HTMLElement): HTMLElement[] => [
  ...panel.querySelectorAll<HTMLElement>('a[href], button:not(:disabled), input:not(:disabled)'),
];

const isTextInput = (target: EventTarget): boolean => target instanceof HTMLInputElement && target.type === 'text';

interface DropdownLinkProps {
  href: string;
  isCurrent: boolean;
  /** Called before the navigation. */
  onOpen?: () => void;
  children: ReactNode;
}

/** A link in the panel, which closes it. */
export function DropdownLink({ href, isCurrent, onOpen, children }: DropdownLinkProps) {
  const close = use(CloseContext);
  const onClick = (): void => {
    onOpen?.();
    close();
  };
  return (
    <Link href={href} className="hg-menu-item" aria-current={isCurrent ? 'page' : undefined} onClick={onClick}>
      {children}
    </Link>
  );
}

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  /** Why it is off. It stays focusable. */
  readonly reason?: string | undefined;
  readonly isDanger?: boolean;
  /** Separated from the items before it. */
  readonly afterLine?: boolean;
  readonly run: () => void;
}

interface MenuProps extends Omit<DropdownProps, 'popup' | 'panelLabel' | 'children' | 'label'> {
  label: ReactNode;
  /** The name of the menu, if the label is no text. */
  name?: string;
  items: readonly MenuItem[];
}

/** A menu of commands. */
export function Menu({ items, name, ...props }: MenuProps) {
  return (
    <Dropdown {...props} popup="menu" panelLabel={name ?? String(props.label)}>
      <MenuItems items={items} />
    </Dropdown>
  );
}

/** The commands of a menu. Each closes it. */
export const MenuItems = ({ items }: { items: readonly MenuItem[] }) =>
  items.map((item) => (
    <Fragment key={item.label}>
      {item.afterLine && <hr className="hg-menu-line" />}
      <MenuButton {...item} />
    </Fragment>
  ));

function MenuButton({ label, icon, reason, isDanger, run }: MenuItem) {
  const close = use(CloseContext);
  const id = useId();
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={`hg-menu-item${isDanger ? ' hg-status--danger' : ''}`}
      aria-disabled={reason === undefined ? undefined : true}
      aria-describedby={reason === undefined ? undefined : id}
      onClick={() => {
        if (reason !== undefined) return;
        close();
        run();
      }}
    >
      {icon && <Icon name={icon} />}
      <span className="hg-menu-text">
        {label}
        {/* The description of the button, and not a part of its name. */}
        {reason !== undefined && (
          <small id={id} aria-hidden="true">
            {reason}
          </small>
        )}
      </span>
    </button>
  );
}
