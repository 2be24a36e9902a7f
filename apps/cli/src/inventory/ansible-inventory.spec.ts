import { containerView, vmView } from '../testing/instances.js';
import { ansibleInventory } from './ansible-inventory.js';

describe('the inventory for Ansible', () => {
  test('has hosts with addresses, and groups by kind, context, namespace, status, folder and tag', () => {
    const inventory = ansibleInventory([vmView({ folder: 'prod/web', os: 'Debian 12' }), containerView()]);
    expect(inventory._meta.hostvars['web-1']).toMatchObject({
      ansible_host: '192.0.2.7',
      headgate_ref: 'vm/lab/default/web-1',
      headgate_os: 'Debian 12',
      headgate_tags: ['prod'],
    });
    expect(inventory._meta.hostvars['box-1']).not.toHaveProperty('ansible_host');
    for (const group of ['kind_vm', 'tag_prod', 'folder_prod', 'folder_prod_web'])
      expect(inventory[group]).toEqual({ hosts: ['web-1'] });
    expect(inventory['status_running']).toEqual({ hosts: ['web-1', 'box-1'] });
  });

  test('names hosts whose names are equal by namespace and context', () => {
    const { _meta } = ansibleInventory([vmView(), vmView({ context: 'prod' }), vmView({ name: 'web-2' })]);
    expect(Object.keys(_meta.hostvars)).toEqual(['web-1.default.lab', 'web-1.default.prod', 'web-2']);
  });

  test('contains no template, wherever a guest or an engine may have put it', () => {
    const evil = "{{ lookup('pipe', 'id') }}";
    const hostile = vmView({ name: evil, os: evil, ip: evil, node: '{% raw %}', tags: [evil, 'ok'], folder: evil });
    const text = JSON.stringify(ansibleInventory([hostile, containerView({ image: '{# x' })]));
    expect(text).not.toMatch(/\{[{%#]/);
    expect(text).toContain('"headgate_tags":["ok"]');
  });

  test('keeps groups apart from those that Ansible has', () => {
    const inventory = ansibleInventory([vmView({ tags: ['all', '_meta', 'ungrouped'] })]);
    expect(Object.keys(inventory)).toEqual(expect.arrayContaining(['tag_all', 'tag__meta', 'tag_ungrouped']));
    expect(inventory['all']).toHaveProperty('children');
  });
});
