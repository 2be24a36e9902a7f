import { useLayoutEffect, useRef, type KeyboardEvent } from 'react';

interface TabsProps<T extends string> {
  label: string;
  tabs: Readonly<Record<T, string>>;
  active: T;
  /** Numbers next to the labels. */
  counts?: Partial<Readonly<Record<T, number | undefined>>>;
  /** The ID of the panel, which exists once and shows the active tab. */
  panelId: string;
  onSelect: (tab: T) => void;
}

/** A row of tabs: one stop of the Tab key, arrow keys move between them. */
export function Tabs<T extends string>({ label, tabs, active, counts = {}, panelId, onSelect }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const names = Object.keys(tabs) as T[];

  // In a narrow window the row scrolls.
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [active]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const at = names.indexOf(active);
    const last = names.length - 1;
    const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    const name = next === undefined ? undefined : names[next];
    if (next === undefined || name === undefined) return;
    event.preventDefault();
    onSelect(name);
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus();
  };

  return (
    <div ref={list} role="tablist" aria-label={label} className="hg-tabs" onKeyDown={onKeyDown}>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === active}
          aria-controls={panelId}
          tabIndex={name === active ? 0 : -1}
          onClick={() => onSelect(name)}
        >
          {tabs[name]} {counts[name] !== undefined && <span className="hg-tag">{counts[name]}</span>}
        </button>
      ))}
    </div>
  );
}
