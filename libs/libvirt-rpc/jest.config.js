export default { displayName: 'libvirt-rpc', preset: '../../jest.preset.js' };
