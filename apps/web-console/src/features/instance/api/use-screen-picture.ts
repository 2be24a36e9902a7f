import { t } from '@lingui/core/macro';
import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../../../shared/api/api-error.js';
import { extensionPath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getResponse } from '../../../shared/api/request.js';

/** A new picture is requested this often while the page is visible. */
const INTERVAL_MS = 7_000;
/** Wide enough for the card at double density. */
const WIDTH = 640;

export interface ScreenPicture {
  /** The PNG as a data URL. */
  readonly url: string;
  /** ISO 8601. */
  readonly takenAt: string;
}

/** The latest picture of the screen of a VM. A screen that can't have one is not asked again. */
export const useScreenPicture = (vm: InstanceAddress, isWanted: boolean) =>
  useQuery({
    enabled: isWanted,
    queryKey: ['screen', vm.context, vm.namespace, vm.name],
    queryFn: async ({ signal }): Promise<ScreenPicture> => {
      const query = { context: vm.context, width: WIDTH };
      const response = await getResponse(`${extensionPath(vm)}/screen`, { query, signal });
      return { url: await dataUrl(await response.blob()), takenAt: response.headers.get('svc-taken-at') ?? '' };
    },
    retry: false,
    refetchInterval: ({ state: { error } }) => (isNotSupported(error) ? false : INTERVAL_MS),
  });

const isNotSupported = (error: unknown): boolean => error instanceof ApiError && error.code === 'NOT_SUPPORTED';

const dataUrl = (picture: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error(t`The picture could not be read.`));
    reader.readAsDataURL(picture);
  });
