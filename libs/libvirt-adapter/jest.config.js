export default { displayName: 'libvirt-adapter', preset: '../../jest.preset.js' };
