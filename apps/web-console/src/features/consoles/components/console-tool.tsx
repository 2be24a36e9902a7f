import { Button } from '@patternfly/react-core';
import type { IconName } from '../../../icons.js';
import { Icon } from '../../../shared/ui/icon.js';

interface ConsoleToolProps {
  icon: IconName;
  /** What it does; beside the icon, or in its hint when that must do. */
  children: string;
  brief?: boolean;
  isDisabled?: boolean;
  isPressed?: boolean;
  onClick: () => void;
}

/** A button in a console's bar. */
export function ConsoleTool({
  icon,
  children,
  brief = false,
  isDisabled = false,
  isPressed,
  onClick,
}: ConsoleToolProps) {
  return (
    <Button
      variant="plain"
      size="sm"
      icon={<Icon name={icon} />}
      isDisabled={isDisabled}
      aria-pressed={isPressed}
      onClick={onClick}
      {...(brief ? { 'aria-label': children, title: children } : {})}
    >
      {brief ? null : children}
    </Button>
  );
}
