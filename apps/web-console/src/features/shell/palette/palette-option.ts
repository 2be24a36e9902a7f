import type { IconName } from '../../../icons.js';
import type { Instance } from '../../../shared/instances/instance.js';

/** One line of the palette. */
export interface PaletteOption {
  /** The same as long as it means the same, whatever else is listed. */
  readonly key: string;
  readonly label: string;
  /** Whether the label is a name or an event, which no language changes. */
  readonly isData?: boolean;
  readonly icon: IconName;
  /** Such as the place of an instance. */
  readonly detail?: string;
  /** The instance whose state is shown. */
  readonly instance?: Instance;
  /** Why it can't be chosen now. */
  readonly reason?: string | undefined;
  readonly isDanger?: boolean | undefined;
  readonly choose: () => void;
}

export interface PaletteGroup {
  readonly title: string;
  readonly options: readonly PaletteOption[];
}

export interface PaletteResults {
  readonly groups: readonly PaletteGroup[];
  /** The number of results, of which only the first ones are in the groups. */
  readonly total: number;
  /** The mistake in a query, as a sentence. */
  readonly problem?: string | undefined;
}
