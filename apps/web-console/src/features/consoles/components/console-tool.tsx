import type { IconName } from '../../../icons.js';
import { Button } from '../../../shared/ui/button.js';
import { Icon } from '../../../shared/ui/icon.js';

interface ConsoleToolProps {
  icon: IconName;
  /** The label, or the tooltip of a button that shows only its icon. */
  children: string;
  isIconOnly?: boolean;
  isDisabled?: boolean;
  isPressed?: boolean;
  onClick: () => void;
}

/** A button in a console's toolbar. */
export function ConsoleTool(props: ConsoleToolProps) {
  const { icon, children, isIconOnly = false, isDisabled = false, isPressed, onClick } = props;
  return (
    <Button
      variant="plain"
      isSmall
      icon={<Icon name={icon} />}
      isDisabled={isDisabled}
      aria-pressed={isPressed}
      onClick={onClick}
      {...(isIconOnly ? { 'aria-label': children, title: children } : {})}
    >
      {isIconOnly ? null : children}
    </Button>
  );
}
