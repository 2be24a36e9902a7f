import { useSearch } from 'wouter';
import { isVm, type Instance } from '../../shared/instances/instance.js';
import { currentSearch, navigate } from '../../shared/location/hash-location.js';
import { paths } from '../../shared/location/paths.js';
import { isRange, type RangeName } from './chart-ranges.js';

const RANGE = 'range';
const DEFAULT_RANGE: RangeName = '1h';

/** The range of the charts of an instance. It is part of the address, so that a link or a reload shows the same one. */
export function useChartRange(instance: Instance): [RangeName, (name: string) => void] {
  const name = new URLSearchParams(useSearch()).get(RANGE) ?? '';
  const choose = (next: string): void => {
    const params = new URLSearchParams(currentSearch());
    params.delete(RANGE);
    if (next !== DEFAULT_RANGE) params.set(RANGE, next);
    const path = isVm(instance) ? paths.vm(instance) : paths.container(instance);
    navigate(params.size === 0 ? path : `${path}?${params}`, { replace: true });
  };
  return [isRange(name) ? name : DEFAULT_RANGE, choose];
}
