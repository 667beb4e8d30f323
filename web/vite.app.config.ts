import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The applications that a server sends: scripts and a style sheet of their own, since served pages have none inline.
// What both use is in a file of its own; no name has a hash, so that a change of one is a change of one file.
export default defineConfig({
  plugins: [react()],
  base: "/ui/",
  build: {
    outDir: "../src/seatrial/web/page/app",
    emptyOutDir: true,
    target: "es2022",
    reportCompressedSize: false,
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      input: { app: "app.html", live: "live.html" },
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        assetFileNames: "app[extname]",
        codeSplitting: { groups: [{ name: "shared", minShareCount: 2 }] },
      },
    },
  },
});
