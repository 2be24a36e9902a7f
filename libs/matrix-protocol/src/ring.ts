/** The names of the event that makes telephones ring: the stable one and the one clients send today (MSC4075). */
export const RING_EVENT_TYPES: readonly string[] = ['m.rtc.notification', 'org.matrix.msc4075.rtc.notification'];

/** The names of the previous draft; the contract is silent about them, an operator may count them too. */
export const OLD_RING_EVENT_TYPES: readonly string[] = ['m.call.notify', 'org.matrix.msc4075.call.notify'];
