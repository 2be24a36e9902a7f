import { vmOrCt } from '@headgate/access';

/** To open a console. */
export const WATCH = vmOrCt('watch');
/** To type into it. Without that, it is view-only. */
export const TYPE = vmOrCt('console');
