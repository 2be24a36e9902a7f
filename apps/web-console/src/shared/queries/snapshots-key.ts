/** The first part of the keys of all lists of snapshots. */
export const SNAPSHOTS_KEY = 'snapshots';
