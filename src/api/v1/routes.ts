import type { RegisterRoutes } from '../../http/area-plugin.ts';

export const registerV1Routes: RegisterRoutes = () => undefined;
