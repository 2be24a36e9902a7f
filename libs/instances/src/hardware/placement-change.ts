import { DomainError, type HardwareChange, type SetPlacementChange } from '@headgate/domain-contracts';

/** The change that a request for a placement asks for. @throws DomainError INVALID_INPUT when it asks for nothing */
export function placementChange(
  settings: Omit<SetPlacementChange, 'kind' | 'restart'>,
  restart: boolean,
): HardwareChange {
  const { dedicated = {}, pinning = {}, hugepageBytes } = settings;
  const values = [...Object.values(dedicated), ...Object.values(pinning), hugepageBytes];
  if (values.every((value) => value === undefined)) {
    throw new DomainError('INVALID_INPUT', 'Set hugepages, or at least one setting of dedicated or pinning.');
  }
  return { kind: 'set-placement', restart, ...settings };
}
