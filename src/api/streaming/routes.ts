import type { RegisterRoutes } from '../../http/area-plugin.ts';

export const registerStreamingRoutes: RegisterRoutes = () => undefined;
