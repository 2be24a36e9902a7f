import { t } from '@lingui/core/macro';
import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { Action, ActionId } from '../../../shared/actions/action.js';
import { isInMenus, menuActions, menuItem } from '../../../shared/actions/menu-items.js';
import { containerActions } from '../../../shared/actions/container-actions.js';
import type { ActionRefusal } from '../../../shared/actions/use-action-refusal.js';
import type { Actions } from '../../../shared/actions/use-actions.js';
import { vmActions } from '../../../shared/actions/vm-actions.js';
import { isVm, type Instance } from '../../../shared/instances/instance.js';
import { paths } from '../../../shared/location/paths.js';
import { findInstances, type FoundInstances } from './find-instances.js';
import type { PaletteGroup, PaletteOption, PaletteResults } from './palette-option.js';
import { parseCommand, type Command } from './parse-command.js';
import { queryOptions } from './query-options.js';
import { instanceAt } from './recent-places.js';
import { folded, rankOf } from './text-rank.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

/** The most options at the same time: more can't be read, and each is an element of the page. */
export const MOST_OPTIONS = 50;
/** The most of them that are actions. */
const MOST_ACTIONS = 24;
const MOST_RECENT = 8;
const MOST_FOLDERS = 12;

/** Everything that the palette finds something in. */
export interface PaletteSources {
  readonly vms: readonly VmView[];
  readonly containers: readonly ContainerView[];
  /** The key of a page is its path. */
  readonly pages: readonly PaletteOption[];
  readonly views: readonly PaletteOption[];
  readonly folders: readonly PaletteOption[];
  /** The entries of the journal that the text means, as far as they are loaded. */
  readonly events: readonly PaletteOption[];
  readonly commands: readonly PaletteOption[];
  /** The places that the user has opened, the latest first. */
  readonly recent: readonly string[];
  /** The place on the page now. */
  readonly place: string | undefined;
  /** The instance on the page, or the one whose details are shown. */
  readonly current: Instance | undefined;
  readonly refusal: ActionRefusal;
  readonly run: Actions['run'];
  readonly navigate: (path: string) => void;
}

/** The results for a text, at most `MOST_OPTIONS`. */
export function paletteResults(text: string, sources: PaletteSources): PaletteResults {
  return text.trim() === '' ? startResults(sources) : searchResults(text, sources);
}

function startResults(sources: PaletteSources): PaletteResults {
  const recent = recentOptions(sources);
  const keys = new Set(recent.map(({ key }) => key));
  return bounded([
    { title: t`Recent`, options: recent },
    { title: t`Pages`, options: sources.pages.filter(({ key }) => !keys.has(key)) },
  ]);
}

/** The latest places besides the one on the page. Instances that do not exist any more are left out. */
function recentOptions(sources: PaletteSources): readonly PaletteOption[] {
  const { recent, place, pages, navigate } = sources;
  return recent
    .filter((one) => one !== place)
    .flatMap((one) => {
      const instance = instanceAt(one, sources);
      return instance ? [instanceOption(instance, navigate)] : pages.filter(({ key }) => key === one);
    })
    .slice(0, MOST_RECENT);
}

function searchResults(text: string, sources: PaletteSources): PaletteResults {
  const { pages, views, folders, events, commands, navigate } = sources;
  const all: readonly Instance[] = [...sources.vms, ...sources.containers];
  const byText = findInstances(all, text, MOST_OPTIONS);
  const command = parseCommand(text, verbs());
  const byName = command && findInstances(all, command.name, MOST_OPTIONS);
  const search = queryOptions(text, sources);
  const groups = {
    actions: command ? actionGroup(command, byName, sources) : EMPTY,
    instances: instanceGroup(byName ? [byText, byName] : [byText], navigate),
    search: { title: t`Search`, options: search.options },
  };
  const isMeant = command !== undefined && (command.name !== '' || command.isComplete) && !byText.startsLikeName;
  return {
    ...bounded([
      ...(search.hasFields ? [groups.search] : []),
      ...(isMeant ? [groups.actions, groups.instances] : [groups.instances, groups.actions]),
      { title: t`Pages`, options: matching(pages, text) },
      { title: t`Folders`, ...limited(matching(folders, text)) },
      { title: t`Views`, options: matching(views, text) },
      { title: t`Commands`, options: matching(commands, text) },
      ...(search.hasFields ? [] : [groups.search]),
      // They arrive later, and move nothing then.
      { title: t`Past events`, options: events },
    ]),
    problem: search.problem,
  };
}

/** A group, and how many options it would have without a limit. */
type CountedGroup = PaletteGroup & { readonly total?: number };

const EMPTY: CountedGroup = { title: '', options: [] };

const verbs = perLanguage((): readonly Pick<Action, 'id' | 'label'>[] =>
  [...Object.values(vmActions()), ...Object.values(containerActions())].filter(isInMenus),
);

/** The actions on the instances with the name; of a verb alone, on the current instance and the latest ones. */
function actionGroup(command: Command, byName: FoundInstances | undefined, sources: PaletteSources): CountedGroup {
  const subjects = command.name === '' ? latest(sources) : (byName?.instances ?? []);
  const orders = command.ids.flatMap((id) => subjects.flatMap((instance) => actionOption(id, instance, sources)));
  const more = command.name === '' || byName === undefined ? 0 : byName.total - byName.instances.length;
  return {
    title: t`Actions`,
    options: orders.slice(0, MOST_ACTIONS),
    total: orders.length + more * command.ids.length,
  };
}

function latest(sources: PaletteSources): readonly Instance[] {
  const { current, recent } = sources;
  const visited = recent.flatMap((place) => instanceAt(place, sources) ?? []);
  return [...new Set([...(current ? [current] : []), ...visited])].slice(0, MOST_RECENT);
}

/** The entry of the menu of the instance, so that both do the same. */
function actionOption(id: ActionId, instance: Instance, { run, refusal }: PaletteSources): readonly PaletteOption[] {
  const action = menuActions(instance).find((one) => one.id === id);
  if (!action) return [];
  const { label, icon, reason, isDanger, run: choose } = menuItem(action, instance, { run, refusal }, instance.name);
  const key = `${id} ${instance.ref}`;
  return [{ key, label, icon: icon ?? 'next', detail: detailOf(instance), reason, isDanger, choose }];
}

function instanceGroup(found: readonly FoundInstances[], navigate: PaletteSources['navigate']): CountedGroup {
  const instances = [...new Set(found.flatMap((one) => one.instances))];
  return {
    title: t`Machines and containers`,
    options: instances.map((instance) => instanceOption(instance, navigate)),
    total: Math.max(instances.length, ...found.map(({ total }) => total)),
  };
}

function instanceOption(instance: Instance, navigate: PaletteSources['navigate']): PaletteOption {
  const { ref: key, name: label } = instance;
  const path = isVm(instance) ? paths.vm(instance) : paths.container(instance);
  const icon = isVm(instance) ? 'screen' : 'container';
  return { key, label, isData: true, icon, detail: detailOf(instance), instance, choose: () => navigate(path) };
}

/** Names are unique only in their place. */
const detailOf = (instance: Instance): string =>
  isVm(instance)
    ? t`${instance.namespace} in ${instance.context}`
    : t`Container, ${instance.namespace} in ${instance.context}`;

/** The options whose label has the text, or all of its words, the best first. */
function matching(options: readonly PaletteOption[], text: string): readonly PaletteOption[] {
  const wanted = folded(text.trim());
  const words = wanted.split(/\s+/);
  const rank = (label: string): number =>
    rankOf(label, wanted) ?? (words.every((word) => label.includes(word)) ? words.length + 2 : Infinity);
  return options
    .map((option) => ({ option, at: rank(folded(option.label)) }))
    .filter(({ at }) => at < Infinity)
    .sort((a, b) => a.at - b.at)
    .map(({ option }) => option);
}

const limited = (options: readonly PaletteOption[]): Pick<CountedGroup, 'options' | 'total'> => ({
  options: options.slice(0, MOST_FOLDERS),
  total: options.length,
});

/** Shortens the longest group, that of the instances, so that the options of all others are there. */
function bounded(groups: readonly CountedGroup[]): PaletteResults {
  const filled = groups.filter(({ options }) => options.length > 0);
  const total = filled.reduce((sum, group) => sum + (group.total ?? group.options.length), 0);
  let excess = filled.reduce((sum, { options }) => sum + options.length, 0) - MOST_OPTIONS;
  const longest = filled.toSorted((a, b) => b.options.length - a.options.length);
  const kept = new Map<CountedGroup, number>();
  for (const group of longest) {
    const cut = Math.min(Math.max(excess, 0), group.options.length - 1);
    excess -= cut;
    kept.set(group, group.options.length - cut);
  }
  return { groups: filled.map((group) => ({ ...group, options: group.options.slice(0, kept.get(group)) })), total };
}
