import { OwnedStore, type OwnedObject } from './owned-store.port.js';

/** A list of the page as a user left it. */
export interface SavedView extends OwnedObject {
  /** The user's name for it, unique among their views. */
  readonly name: string;
  /** The path of a page with its query, such as `/vms?q=status:running`. */
  readonly address: string;
  /** The chosen columns; null for as many as fit. */
  readonly columns: readonly string[] | null;
  /** Its place among the views of its owner: the lowest is the first. */
  readonly rank: number;
  /** ISO 8601. */
  readonly savedAt: string;
}

/** Stores the views of users, by rank and then by name. */
export abstract class SavedViewStore extends OwnedStore<SavedView> {}

/** The order of `SavedViewStore.of`. */
export const byViewRank = (a: SavedView, b: SavedView): number =>
  a.rank - b.rank || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1);
