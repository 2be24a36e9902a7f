import { instanceObject } from '../contracts/instance-object.contract.js';
import { maskSecrets } from './mask-secrets.js';

test('user data, variables, raw settings and anything named like a secret are masked, in both places', () => {
  const config = {
    'environment.HOME': 'hidden',
    'user.user-data': 'hidden',
    'cloud-init.vendor-data': 'hidden',
    'raw.lxc': 'hidden',
    'user.db_password': 'hidden',
    'user.api-key': 'hidden',
    'limits.cpu': '2',
    'user.headgate.image': 'tiny',
  };
  const masked = maskSecrets(instanceObject({ config, expanded_config: config }));
  expect(JSON.stringify(masked)).not.toContain('hidden');
  expect(masked.config).toMatchObject({ 'limits.cpu': '2', 'user.headgate.image': 'tiny' });
});
