import { t } from '@lingui/core/macro';
import { useEffect, useEffectEvent, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useActionRefusal } from '../../../shared/actions/use-action-refusal.js';
import { useActions } from '../../../shared/actions/use-actions.js';
import { useContainers, useFleet } from '../../../shared/fleet/fleet-provider.js';
import { useCreateRefusal } from '../../../shared/fleet/use-create-refusal.js';
import type { Instance } from '../../../shared/instances/instance.js';
import { PEEK } from '../../../shared/list/use-peek.js';
import { paths } from '../../../shared/location/paths.js';
import { useFolders } from '../../../shared/queries/use-folders.js';
import { THEMES, useTheme } from '../../../shared/ui/theme.js';
import { useLanguages } from '../use-languages.js';
import { themeWording } from '../theme-wording.js';
import { usePages } from '../use-pages.js';
import { useViews } from '../use-views.js';
import type { PaletteOption, PaletteResults } from './palette-option.js';
import { paletteResults, type PaletteSources } from './palette-results.js';
import { instanceAt, placeOf } from './recent-places.js';
import { usePastEvents } from './use-past-events.js';
import { useRecentPlaces } from './use-recent-places.js';
import { warmSearch } from './warm-search.js';

/**
 * The results for a text, from the entries that the page has. They are computed at once and not deferred, because Enter
 * must never choose a result of an earlier text.
 */
export function usePaletteResults(text: string): PaletteResults {
  const vms = useFleet(({ entries }) => entries);
  const containers = useContainers(({ entries }) => entries);
  const [path, navigate] = useLocation();
  const search = useSearch();
  const pages = usePageOptions();
  const views = useViewOptions();
  const folders = useFolderOptions();
  const commands = useCommands();
  const recent = useRecentPlaces();
  const refusal = useActionRefusal();
  const { run } = useActions();
  const place = placeOf(
    path,
    pages.map(({ key }) => key),
  );
  const current = currentInstance(place, search, { vms, containers });
  const entries = useMemo(() => [...vms, ...containers], [vms, containers]);
  const events = usePastEvents(text, entries, navigate);
  const sources = {
    vms,
    containers,
    pages,
    views,
    folders,
    events,
    commands,
    recent,
    place,
    current,
    refusal,
    run,
    navigate,
  };
  const warm = useEffectEvent(() => warmSearch(vms));
  const isLoaded = vms.length > 0;
  useEffect(() => warm(), [isLoaded]);
  return useMemo(() => paletteResults(text, sources), [text, ...Object.values(sources)]);
}

function currentInstance(
  place: string | undefined,
  search: string,
  entries: Pick<PaletteSources, 'vms' | 'containers'>,
): Instance | undefined {
  const peeked = new URLSearchParams(search).get(PEEK);
  if (peeked === null) return place === undefined ? undefined : instanceAt(place, entries);
  const isPeeked = ({ ref }: Instance): boolean => ref === peeked;
  return entries.vms.find(isPeeked) ?? entries.containers.find(isPeeked);
}

function usePageOptions(): readonly PaletteOption[] {
  const pages = usePages();
  const [, navigate] = useLocation();
  const key = JSON.stringify(pages);
  return useMemo(
    () => pages.map(({ href, label, icon }) => ({ key: href, label, icon, choose: () => navigate(href) })),
    // The array is another one in each render.
    [key, navigate],
  );
}

function useViewOptions(): readonly PaletteOption[] {
  const { views, open } = useViews();
  const [, navigate] = useLocation();
  return useMemo(
    () =>
      views.map((view) => ({
        key: `view ${view.name}`,
        label: view.name,
        isData: true,
        icon: 'bookmark',
        choose: () => {
          open(view);
          navigate(view.address);
        },
      })),
    [views, open, navigate],
  );
}

/** The folders that the page has. They open in the tree, with their members next to it. */
function useFolderOptions(): readonly PaletteOption[] {
  const { data } = useFolders();
  const [, navigate] = useLocation();
  return useMemo(
    () =>
      (data?.folders ?? []).map(({ path }): PaletteOption => ({
        key: `folder ${path}`,
        label: path,
        isData: true,
        icon: 'folder',
        choose: () => navigate(`${paths.folders}?${new URLSearchParams({ [PEEK]: path })}`),
      })),
    [data, navigate],
  );
}

/** What can be changed anywhere. */
function useCommands(): readonly PaletteOption[] {
  const [, navigate] = useLocation();
  const [theme, setTheme] = useTheme();
  const { options: languages } = useLanguages();
  const reason = useCreateRefusal();
  const hasContainers = usePages().some(({ name }) => name === 'containers');
  return useMemo(() => {
    const create = (label: string, path: string): PaletteOption => ({
      key: path,
      label,
      icon: 'plus',
      reason,
      choose: () => navigate(path),
    });
    return [
      create(t`Create VM…`, paths.createVm),
      ...(hasContainers ? [create(t`Create container…`, paths.createContainer)] : []),
      ...THEMES.map((one): PaletteOption => {
        const { label, icon } = themeWording()[one];
        const detail = one === theme ? { detail: t`Current` } : {};
        return { key: `theme ${one}`, label: t`Theme: ${label}`, icon, ...detail, choose: () => setTheme(one) };
      }),
      ...languages.map(({ choice, label, isCurrent, choose }): PaletteOption => {
        const detail = isCurrent ? { detail: t`Current` } : {};
        return { key: `language ${choice}`, label: t`Language: ${label}`, icon: 'system', ...detail, choose };
      }),
    ];
  }, [navigate, theme, setTheme, reason, hasContainers, languages.find(({ isCurrent }) => isCurrent)?.choice]);
}
