/** The types of the event that rings other members: the stable one, and the one that clients send today (MSC4075). */
export const RING_EVENT_TYPES: readonly string[] = ['m.rtc.notification', 'org.matrix.msc4075.rtc.notification'];

/** The types of the previous draft, which operators may choose to count as well. */
export const OLD_RING_EVENT_TYPES: readonly string[] = ['m.call.notify', 'org.matrix.msc4075.call.notify'];
