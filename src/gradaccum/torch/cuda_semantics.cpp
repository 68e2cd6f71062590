// Lets the CPU build of PyTorch walk its own CUDA code paths on tensors without content. No kernel is ever run.
//
// Four things are missing from a CPU build for that: kernels for the device "cuda" (every one asks the meta device for
// shapes, dtypes and strides instead), a device guard (the autograd engine asks one for streams and devices), the CUDA
// hooks (code that asks "is there CUDA?"), and the choice among SDPA's kernels, which lives in the CUDA library. The
// choice below is written from the documented rules of PyTorch 2.13 for compute capability 8.0, with the checks that its
// public headers already hold. It is the one part that is not PyTorch's own binary.

#include <ATen/Context.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace {

using c10::DeviceType;

at::Tensor seen_as(const at::Tensor& tensor, c10::Storage storage, c10::DispatchKey key) {
  auto made = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), tensor.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return made;
}

c10::Storage nothing(size_t bytes, at::DataPtr data) {
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, std::move(data), c10::GetAllocator(DeviceType::Meta), true);
}

// What lives on the GPU, as an allocator without rounding would count it: from a storage's birth to its death.
std::mutex changing;
std::atomic<int64_t> live{0};
std::atomic<int64_t> peak{0};
std::vector<int64_t> history;
bool recorded = false;

void grow(int64_t bytes) {
  const std::lock_guard<std::mutex> only_one(changing);
  live += bytes;
  if (live > peak) peak = live.load();
  if (recorded) history.push_back(live);
}

void bury(void* size) {
  grow(-*static_cast<int64_t*>(size));
  delete static_cast<int64_t*>(size);
}

c10::Storage counted(size_t bytes) {
  grow(static_cast<int64_t>(bytes));
  return nothing(bytes, at::DataPtr(nullptr, new int64_t(bytes), &bury, c10::Device(DeviceType::CUDA, 0)));
}

void resize(const c10::Storage& storage, size_t bytes) {
  auto& size = *static_cast<int64_t*>(storage.data_ptr().get_context());
  grow(static_cast<int64_t>(bytes) - size);
  size = static_cast<int64_t>(bytes);
  storage.set_nbytes(bytes);
}

// One call of an operator: its GPU tensors stand in as meta tensors, and what comes back is on the GPU again. A result
// that shares its storage with an argument on the meta device shares it on the GPU.
class Call {
 public:
  at::Tensor lowered(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_cuda()) return tensor;
    for (const auto& [meta, gpu] : pairs_)
      if (gpu.is_same(tensor)) return meta;
    auto meta = seen_as(tensor, nothing(tensor.storage().nbytes(), at::DataPtr(nullptr, DeviceType::Meta)), c10::DispatchKey::Meta);
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) meta.unsafeGetTensorImpl()->set_wrapped_number(true);
    pairs_.emplace_back(meta, tensor);
    return meta;
  }

  at::Tensor raised(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_meta()) return tensor;
    for (const auto& [meta, gpu] : pairs_)
      if (meta.is_same(tensor)) return gpu;
    const auto* storage = tensor.storage().unsafeGetStorageImpl();
    for (const auto& [meta, gpu] : pairs_)
      if (meta.storage().unsafeGetStorageImpl() == storage)
        return seen_as(tensor, gpu.storage(), c10::DispatchKey::CUDA);
    auto gpu = seen_as(tensor, counted(tensor.storage().nbytes()), c10::DispatchKey::CUDA);
    pairs_.emplace_back(tensor, gpu);
    return gpu;
  }

  // An operator may have resized an argument.
  void settle() {
    for (const auto& [meta, gpu] : pairs_) {
      if (gpu.storage().nbytes() != meta.storage().nbytes()) resize(gpu.storage(), meta.storage().nbytes());
      if (gpu.sizes() != meta.sizes() || gpu.strides() != meta.strides())
        gpu.unsafeGetTensorImpl()->set_sizes_and_strides(meta.sizes(), meta.strides(), meta.storage_offset());
    }
  }

  template <class Change>
  static void each_tensor(c10::IValue& value, const Change& change) {
    if (value.isTensor()) {
      value = change(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& one : value.toTensorVector()) list.push_back(change(one));
      value = list;
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& one : value.toOptionalTensorVector())
        list.push_back(one ? std::optional<at::Tensor>(change(*one)) : std::nullopt);
      value = list;
    }
  }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;
};

// No tensor has a value, and yet Transformers reads one or two: "is nothing padded?". The answer is no, unless whoever
// listens refuses to answer the code that asks.
std::atomic<bool (*)()> may_answer{nullptr};

void no_value(torch::jit::Stack* stack) {
  const auto listener = may_answer.load();
  TORCH_CHECK_NOT_IMPLEMENTED(!listener || listener(), "A tensor on shapes only has no value to read.");
  const auto type = torch::jit::pop(*stack).toTensor().scalar_type();
  if (type == at::kBool) torch::jit::push(*stack, c10::Scalar(false));
  else if (at::isIntegralType(type, false)) torch::jit::push(*stack, c10::Scalar(int64_t{0}));
  else torch::jit::push(*stack, c10::Scalar(0.0));
}

void on_shapes(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  if (op.schema().name() == "aten::_local_scalar_dense") return no_value(stack);
  Call call;
  const size_t first = stack->size() - op.schema().arguments().size();
  for (size_t i = first; i < stack->size(); ++i) {
    auto& value = (*stack)[i];
    Call::each_tensor(value, [&](const at::Tensor& tensor) { return call.lowered(tensor); });
    if (value.isDevice() && value.toDevice().is_cuda()) value = c10::Device(DeviceType::Meta);
  }
  {
    const at::AutoDispatchBelowAutograd below;
    op.callBoxed(stack);
  }
  call.settle();
  for (size_t i = first; i < stack->size(); ++i)
    Call::each_tensor((*stack)[i], [&](const at::Tensor& tensor) { return call.raised(tensor); });
}

// Operators that are written in terms of others, with their derivatives, stay as they are, unless devices have a kernel
// of their own for them (as for silu's derivative); the CPU's registrations tell. All others get the one kernel.
const bool kernels_registered = [] {
  static std::vector<c10::RegistrationHandleRAII> kept;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (!op || name.name.rfind("aten::", 0) != 0 || op->hasKernelForDispatchKey(c10::DispatchKey::CUDA)) continue;
    if (op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
        !op->hasKernelForDispatchKey(c10::DispatchKey::CPU))
      continue;
    kept.push_back(dispatcher.registerImpl(name, c10::DispatchKey::CUDA,
                                           c10::KernelFunction::makeFromBoxedFunction<&on_shapes>(), std::nullopt,
                                           nullptr, "shapes only"));
  }
  return true;
}();

TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_shapes>()); }

struct OneFakeGpu final : c10::impl::NoOpDeviceGuardImpl<DeviceType::CUDA> {
  c10::Device exchangeDevice(c10::Device) const override { return {DeviceType::CUDA, 0}; }
  c10::Device getDevice() const override { return {DeviceType::CUDA, 0}; }
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, {DeviceType::CUDA, 0});
  }
  c10::Stream exchangeStream(c10::Stream) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, {DeviceType::CUDA, 0});
  }
  // One stream only, so there is never anything to wait for.
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
};

C10_REGISTER_GUARD_IMPL(CUDA, OneFakeGpu)

// Flash: half precision, no mask, equal head sizes up to 256; grouped heads are fine.
bool flash_takes(const sdp::sdp_params& p) {
  const auto q = p.query.sym_size(-1), k = p.key.sym_size(-1), v = p.value.sym_size(-1);
  return at::globalContext().userEnabledFlashSDP() && sdp::check_tensor_shapes(p, false) &&
      sdp::check_for_attn_mask(p, false) && q == k && k == v && q <= 256 &&
      !(p.is_causal && p.query.sym_size(-2) != p.key.sym_size(-2)) &&
      sdp::check_tensor_dtype(p, std::array<at::ScalarType, 2>{at::kHalf, at::kBFloat16}, false) &&
      sdp::check_batch_size_and_num_heads_dense<true>(p, false) &&
      sdp::check_nonzero_sequence_lengths_dense(p, false) &&
      sdp::check_last_dim_stride_equals_1_dense<true>(p, false);
}

// Memory-efficient: any float type, masks are fine; as many key heads as query heads; head sizes aligned to 16 bytes.
bool efficient_takes(const sdp::sdp_params& p) {
  const int64_t alignment = p.query.scalar_type() == at::kFloat ? 4 : 8;
  const auto aligned = [&](const at::Tensor& t) { return t.sym_size(-1) > 0 && t.sym_size(-1) % alignment == 0; };
  return at::globalContext().userEnabledMemEfficientSDP() && sdp::check_tensor_shapes(p, false) &&
      p.query.sym_size(-1) == p.key.sym_size(-1) && aligned(p.query) && aligned(p.value) &&
      sdp::check_tensor_dtype(p, std::array<at::ScalarType, 3>{at::kHalf, at::kFloat, at::kBFloat16}, false) &&
      sdp::check_batch_size_and_num_heads_dense<false>(p, false) &&
      sdp::check_nonzero_sequence_lengths_dense(p, false) &&
      sdp::check_last_dim_stride_equals_1_dense<false>(p, false);
}

int64_t choose(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
               const std::optional<at::Tensor>& mask, double dropout, bool causal, std::optional<double>, bool gqa) {
  const sdp::sdp_params params{query, key, value, mask, dropout, causal, gqa};
  if (flash_takes(params)) return static_cast<int64_t>(sdp::SDPBackend::flash_attention);
  if (efficient_takes(params)) return static_cast<int64_t>(sdp::SDPBackend::efficient_attention);
  return static_cast<int64_t>(sdp::SDPBackend::math);
}

const bool registered = [] {
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose);
  return true;
}();

}  // namespace

// The registry makes the hooks by name, in PyTorch's own namespace.
namespace at {

struct FakeCudaHooks final : CUDAHooksInterface {
  explicit FakeCudaHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex current_device() const override { return 0; }
  DeviceIndex deviceCount() const override { return 1; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  int getNumGPUs() const override { return 1; }
  void deviceSynchronize(DeviceIndex) const override {}
};

namespace {
C10_REGISTER_CLASS(CUDAHooksRegistry, CUDAHooks, FakeCudaHooks)
}

}  // namespace at

extern "C" {
int64_t gradaccum_live() { return live; }
int64_t gradaccum_peak() { return peak; }
void gradaccum_start_phase() { peak = live.load(); }
void gradaccum_record() { recorded = true; }
int64_t gradaccum_events() { return static_cast<int64_t>(history.size()); }
const int64_t* gradaccum_history() { return history.data(); }
void gradaccum_ask(bool (*listener)()) { may_answer = listener; }
}
