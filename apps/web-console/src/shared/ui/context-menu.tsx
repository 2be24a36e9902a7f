import { useEffect, useEffectEvent, useLayoutEffect, useRef, type KeyboardEvent } from 'react';
import { CloseContext, itemsOf, MenuItems, moveFocus, type MenuItem } from './dropdown.js';

interface ContextMenuProps {
  label: string;
  /** The position of the pointer or of the button, in CSS pixels of the window. */
  at: { readonly x: number; readonly y: number };
  items: readonly MenuItem[];
  onClose: () => void;
}

/** A menu at a point of the page. It closes as menus of buttons do, and returns the focus. */
export function ContextMenu({ label, at, items, onClose }: ContextMenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const opener = useRef<Element | null>(null);
  const closeAndFocus = (): void => {
    onClose();
    if (opener.current instanceof HTMLElement) opener.current.focus();
  };
  const onOutside = useEffectEvent((event: Event) => {
    if (!menu.current?.contains(event.target as Node)) onClose();
  });
  useLayoutEffect(() => {
    const element = menu.current;
    if (!element) return;
    opener.current = document.activeElement;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(0, Math.min(at.x, window.innerWidth - width))}px`;
    element.style.top = `${Math.max(0, Math.min(at.y, window.innerHeight - height))}px`;
    itemsOf(element)[0]?.focus();
  }, [at]);
  useEffect(() => {
    const listener = (event: Event): void => onOutside(event);
    const events = ['pointerdown', 'focusin', 'scroll'];
    for (const event of events) document.addEventListener(event, listener, true);
    return () => events.forEach((event) => document.removeEventListener(event, listener, true));
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      event.preventDefault();
      return closeAndFocus();
    }
    if (menu.current) moveFocus(menu.current, event);
  };
  return (
    <div ref={menu} role="menu" aria-label={label} className="hg-panel hg-context-menu" onKeyDown={onKeyDown}>
      <CloseContext value={closeAndFocus}>
        <MenuItems items={items} />
      </CloseContext>
    </div>
  );
}
