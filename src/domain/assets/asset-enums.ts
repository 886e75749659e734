// What some fields of an asset can be, of which its types are made.

export const ASSET_TYPES = ['host', 'webapp', 'network', 'cloudaccount', 'mobileapp'] as const;
export const CRITICALITIES = ['high', 'medium', 'low', 'undefined'] as const;
export const WRITABLE_BY = ['client', 'boss', 'any'] as const;
