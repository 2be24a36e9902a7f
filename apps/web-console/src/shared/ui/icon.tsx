import { ICONS, type IconName } from '../../icons.js';

/** An icon. Screen readers ignore it; the text next to it has the meaning. */
export function Icon({ name, className }: { name: IconName; className?: string }) {
  const { path, solid, stroke = 1.75 } = ICONS[name];
  return (
    <svg
      className={className ? `hg-icon ${className}` : 'hg-icon'}
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
      fill={solid ? 'currentColor' : 'none'}
      stroke="currentColor"
      strokeWidth={solid ? 1 : stroke}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={path} />
    </svg>
  );
}
